import{Ie,Q}from"/console/assets/main-5rczfncf.js";function T(){return Ie({strict:!1})}function Y(){let e=Q(),t=T();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{T,Y};
