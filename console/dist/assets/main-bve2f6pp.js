import{Ue,se}from"/console/assets/main-y2evt8c3.js";function C(){return Ue({strict:!1})}function I(){let e=se(),t=C();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{C,I};
