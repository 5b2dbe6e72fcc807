import{ie,E}from"/console/assets/main-2fdy4fce.js";function q(){return ie({strict:!1})}function we(){let e=E(),t=q();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{q,we};
