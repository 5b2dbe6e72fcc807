import{He,ie}from"/console/assets/main-4e1e0cnx.js";function M(){return He({strict:!1})}function B(){let e=ie(),t=M();return(n)=>{let o=Object.entries({...t,...n}).filter(([,r])=>r!==void 0&&r!=="");e({to:".",search:Object.fromEntries(o),replace:!0})}}
export{M,B};
